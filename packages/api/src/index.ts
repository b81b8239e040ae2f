// Our kinds, once: types, CustomResourceDefinitions, and the checks that admission, command line and browser share.
export { type Condition } from './condition.ts';
export {
  type Judge,
  type Review,
  type Verdict,
  type WorldSource,
  admission,
  judges,
  refusalText,
  refused,
} from './admission.ts';
export { canaryProblem, canaryServices, checkLbcanary, checkLbcanaryRemoval } from './checks/lbcanary.ts';
export { checkLbrule } from './checks/lbrule.ts';
export { checkAnswer } from './checks/answer.ts';
export { checkLbticket, checkLbticketRemoval, lbticketWarnings } from './checks/lbticket.ts';
export {
  checkLoadbalancer,
  checkLoadbalancerRemoval,
  deviceOf,
  loadbalancerWarnings,
  networkOverlaps,
} from './checks/loadbalancer.ts';
export { conditionOf } from './checks/rule-entry.ts';
export { type IngressUse, type World, isLive } from './checks/world.ts';
export {
  type IngressReport,
  type VipClaim,
  claimOf,
  ingressAnnotations,
  ingressFinalizer,
  ingressIndexes,
  ingressUse,
  portsReported,
  reportOf,
  ticketOfIngress,
} from './f5-ingress.ts';
export { type Sealed, type SealedSecret, sealed, sealedNames, unkept } from './credentials.ts';
export { filled } from './fill.ts';
export { crdFiles } from './gen.ts';
export { type Crd, type CrdVersion, type RootSchema, crds, definitions } from './crds.ts';
export type { Column, Definition, KindOf, ObjectMeta, Resource } from './kind.ts';
export {
  type CanaryCounts,
  type CanaryMark,
  type CanaryMembers,
  type CanaryPhase,
  type CanaryTransition,
  type Lbcanary,
  type LbcanarySpec,
  type LbcanaryStatus,
  canaryTarget,
  isCanaryEnded,
  lbcanaries,
  lbcanary,
} from './lbcanary.ts';
export { type Lbrule, type LbruleEntry, type LbruleSpec, type LbruleStatus, lbrule, lbrules } from './lbrule.ts';
export {
  type Lbticket,
  type LbticketSpec,
  type LbticketStatus,
  type Process,
  type Filing,
  type Transition,
  allocatedAnnotation,
  answerIn,
  changedByAnnotation,
  longestUser,
  forceAnnotation,
  isDeletable,
  isOpen,
  lbticket,
  lbtickets,
} from './lbticket.ts';
export { type Listner, isHttp, monitorOf } from './listner.ts';
export {
  type Loadbalancer,
  type LoadbalancerIp,
  type LoadbalancerSpec,
  type LoadbalancerStatus,
  loadbalancer,
  loadbalancers,
} from './loadbalancer.ts';
export { tenantOf } from './names.ts';
export { type NamespacedRole, controllerNamespace, programRoles } from './program-roles.ts';
export { type ClusterRole, clusterRoles } from './roles.ts';
export type { WeightedService } from './services.ts';
export type { CelRule, Structural } from './structural.ts';
