// The public surface of the embedded API server.
export { apiServer, type ApiServer, type ApiServerOptions } from './api-server.ts';
export type { Peer, Token } from './access/authenticate.ts';
export { authority, issue, type Issue, type KeyPair } from './certificates.ts';
export type { Clock } from './clock.ts';
export type { Admit, Review, UserInfo, Verdict } from './cluster.ts';
export type { KubeObject } from './object.ts';
export { send, SendError, type Outgoing, type Send } from './send.ts';
export { level } from './storage/level.ts';
export { TextResponse } from './text-response.ts';
export { memory } from './storage/memory.ts';
export type { Change, Storage } from './storage/storage.ts';
