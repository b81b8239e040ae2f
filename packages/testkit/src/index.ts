// What tests share. Imported by tests only.
export { as3Schema, as3Validation, noAs3Schema, type As3Check } from './as3-schema.ts';
export { fakeClock, type FakeClock } from './fake-clock.ts';
export { golden, type GoldenInput, type GoldenRun } from './golden.ts';
export { type KubePlace, type KubeSuite, testKube } from './kube-conformance.ts';
export { testProvider, type FaultCode, type ProviderPlace, type ProviderSuite } from './provider-conformance.ts';
