// Load balancers in the words of AS3. Pure: nothing is sent from here.
export { compile } from './compile.ts';
export { declaration } from './declaration.ts';
export { decode, type Decoded } from './decode.ts';
export { keyPairsIn, secretsOf, unpinned } from './certificates.ts';
export { complete, deviceRulesOf } from './complete.ts';
export { discoverablePools, fill, strip, type DiscoverablePool } from './members.ts';
export { marked, markOf, unmarked, type Mark } from './mark.ts';
export { check } from './check/check.ts';
export { applicationName, checkName, poolName, ruleName, tenantName, virtualName } from './names.ts';
export type { Adc, Application, As3, PoolMember, Tenant } from './application.ts';
export { isApplication } from './application.ts';
