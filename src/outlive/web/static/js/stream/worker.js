// All tabs of a browser share this worker, and with it one connection for everything that they listen to.
import { SharedStream } from "./shared.js";

const ports = new Set();
const owners = new Map(); // the port of each topic
let status = "online";

const stream = new SharedStream(
  (name, message) => owners.get(name)?.postMessage({ name, ...message }),
  (now) => {
    status = now;
    for (const port of ports) port.postMessage({ status });
  },
);

self.onconnect = ({ ports: [port] }) => {
  ports.add(port);
  port.onmessage = ({ data: { add = [], remove = [], leave } }) => {
    for (const name of remove) {
      owners.delete(name);
      stream.remove(name);
    }
    for (const [name, topic] of add) {
      owners.set(name, port);
      stream.add(name, topic);
    }
    if (leave) ports.delete(port);
    else ports.add(port);
  };
  port.postMessage({ status });
};
