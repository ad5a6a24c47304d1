#!/usr/bin/env node
import "../dist/sbx-stdio.js";
