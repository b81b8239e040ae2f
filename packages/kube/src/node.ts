// What needs Node: sockets, files, programs. A browser takes the package's main entry alone.
export {
  connect,
  connectText,
  wayTo,
  type Connected,
  type ConnectOptions,
  type ConnectTextOptions,
  type Way,
} from './connect.ts';
export { undiciSend, type UndiciSend } from './undici-send.ts';
