// What the Worker uses of R2's interface, over a folder that workerd serves. Runs in workerd, never imported.

const ask = async (folder, key, method, body) => {
  const answer = await folder.fetch(`http://folder/${key}`, { method, body });
  if (answer.ok) return answer;
  if (answer.status !== 404 || method === "PUT") throw new Error(`The folder answers ${answer.status} to ${method}`);
  return null;
};

export default ({ FOLDER }) => ({
  get: (key) => ask(FOLDER, key, "GET"),
  put: (key, body) => ask(FOLDER, key, "PUT", body),
  delete: (keys) => Promise.all(keys.map((key) => ask(FOLDER, key, "DELETE"))),
});
