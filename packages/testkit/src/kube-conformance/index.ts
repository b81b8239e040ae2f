// The suite of rules that both the embedded API server and a real kube-apiserver answer.
export type { Case, Chapter, Json } from './case.ts';
export { chapters } from './chapters.ts';
export { answerHook, hookSend, type HookCall, type HookSend } from './hook.ts';
export { type KnownDifferences, known } from './known.ts';
export { type Answered, type EmbeddedServer, embeddedPlace, type Place, type Sending } from './place.ts';
export { difference, differences, readRecording, type Recording, writeRecording } from './recorded.ts';
export { type Answer, beginChapter, type Begun, type Outcome, runChapter } from './run.ts';
