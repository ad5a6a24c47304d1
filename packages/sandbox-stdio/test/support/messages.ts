// Messages of both hops as they are sent, at least one of each type.

const PANES =
  '{"type":"panes","panes":[{"id":"%0","name":"left","window":"@0","active":true,"cols":80,"rows":24,"left":0,"top":0}],' +
  '"windows":[{"id":"@0","name":"sh","active":true,"cols":80,"rows":24,"zoomed":false}]}';

export const FROM_CLIENT = [
  '{"type":"resize","cols":120,"rows":40}',
  '{"type":"signal","signal":"SIGINT"}',
  '{"type":"eof"}',
  '{"type":"eof","offset":17}',
  '{"type":"ack","offset":65536}',
  '{"type":"ping"}',
  '{"type":"auth","token":"eyJ"}',
  '{"type":"request_stdin"}',
  '{"type":"release_stdin"}',
  '{"type":"grant_stdin","to":"c2"}',
  '{"type":"force_take"}',
  '{"type":"take_ask","id":"a1"}',
  '{"type":"decline_ask","id":"a1"}',
  '{"type":"kill"}',
  '{"type":"stdin","pane":"left","data":"ls\\r"}',
  '{"type":"resize","pane":"%3","cols":80,"rows":24}',
  '{"type":"pane","action":"split","pane":"%0","across":"below"}',
  '{"type":"pane","action":"resize_window","window":"@1","cols":80,"rows":24}',
];

const HELLO =
  '{"type":"hello","protocol":"stdio.v1","sandbox":"dev","session":"build","incarnation":"i","tty":true,"cols":120,' +
  '"rows":40,"offset":0,"live":0,"stdin":0,"resume":"proof","window":524288,"delivery":"live",' +
  '"you":{"id":"c1","name":"Ada","role":"driver"},"answerer":{"id":"c1","offset":0},"holder":"c1",' +
  '"mode":"collaborative","participants":[{"id":"c1","name":"Ada","role":"driver"}]}';

export const FROM_SERVER = [
  HELLO,
  `${HELLO.slice(0, -1)},"gap":5}`,
  '{"type":"bye","code":4401,"reason":"token expired","retry":"never"}',
  '{"type":"bye","code":1013,"reason":"full","retry":"after","seconds":2.5}',
  '{"type":"status","status":"starting"}',
  '{"type":"gap","from":10,"to":20}',
  '{"type":"stdin_ack","offset":7}',
  '{"type":"exit","code":0,"offset":0}',
  '{"type":"exit","code":143,"signal":"SIGTERM","offset":9007199254740991}',
  '{"type":"resize","cols":1000,"rows":500,"offset":3}',
  '{"type":"join","participant":{"id":"c2","name":"","role":"viewer"}}',
  '{"type":"leave","id":"c2"}',
  '{"type":"stdin_holder","id":""}',
  '{"type":"stdin_request","id":"c2"}',
  '{"type":"ask","id":"a1","writer":"api","reason":"sudo","secret":false}',
  '{"type":"ask_state","id":"a1","by":"c2","answer":"done"}',
  '{"type":"echo","on":false,"offset":7}',
  '{"type":"answerer","id":"","offset":0}',
  '{"type":"expiring","seconds":60}',
  '{"type":"stopping","seconds":840}',
  '{"type":"secret","on":true}',
  '{"type":"error","code":"not_stdin_holder","message":"not stdin holder"}',
  '{"type":"pong"}',
  PANES,
];

export const INNER_COMMANDS = [
  '{"type":"attach","client":"c","slot":0,"name":"","role":"driver","admin":false,"delivery":"live","acknowledges":true,"acked":0,"window":65536}',
  '{"type":"attach","client":"c","slot":4294967295,"name":"n","role":"viewer","admin":true,"delivery":"lossless","acknowledges":false,"acked":9,"window":16384,"cols":80,"rows":24}',
  '{"type":"detach","client":"c","how":"left"}',
  '{"type":"detach","client":"c","how":"vanished"}',
  '{"type":"ack","client":"c","offset":1,"window":16384}',
  '{"type":"eof","client":"c","offset":1}',
  '{"type":"signal","client":"c","signal":"SIGKILL"}',
  '{"type":"resize","client":"c","cols":80,"rows":24}',
  '{"type":"kill","client":"c"}',
  '{"type":"pane","client":"c","order":"{\\"type\\":\\"stdin\\",\\"pane\\":\\"left\\",\\"data\\":\\"x\\"}"}',
  '{"type":"stdin_holder","id":""}',
  '{"type":"ping"}',
];

export const INNER_MESSAGES = [
  '{"type":"hello","protocol":"stdio.inner.v1","incarnation":"i","tty":false,"mode":"exclusive","delivery":"lossless","cols":80,"rows":24,"offset":0,"live":5,"holder":"","creator":"","cmd":["bash","-c",""],"createdAt":"2026-01-01T00:00:00.000Z","clients":[{"id":"c","role":"driver","stdin":1,"received":2,"eof":1,"acked":0,"isAbsent":true,"name":"n","delivery":"live","acknowledges":true},{"id":"d","role":"viewer","stdin":0,"acked":0,"isAbsent":false}],"gone":["e"]}',
  '{"type":"resize","cols":80,"rows":24,"offset":0}',
  '{"type":"gap","from":0,"to":1}',
  '{"type":"exit","code":255,"offset":1}',
  '{"type":"exit","code":137,"signal":"SIGKILL","offset":1}',
  '{"type":"stdin_ack","client":"c","offset":1}',
  '{"type":"error","client":"c","code":"stdin_closed","message":""}',
  '{"type":"bye","code":1001,"reason":""}',
  '{"type":"bye","code":1008,"reason":"","client":"c"}',
  '{"type":"stopping","seconds":840}',
  '{"type":"pong"}',
  PANES,
];
