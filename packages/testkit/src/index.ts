// What tests share. Imported by tests only.
export { fakeClock, type FakeClock } from './fake-clock.ts';
export { golden, type GoldenInput, type GoldenRun } from './golden.ts';
export { type KubePlace, type KubeSuite, testKube } from './kube-conformance.ts';
