// Tickets: from what users file (Loadbalancer, Lbticket, Lbrule) to addresses, network policy and ConfigMaps.
export { tickets, type Tickets, type TicketsOptions, type TicketsTurn } from './tickets.ts';
export type { Changed, Target } from './desk.ts';
export type { DeviceState, Outage, Surroundings } from './outage.ts';
export { http, type HttpApproverOptions } from './http.ts';
export { ltmCluster, ltmTenant, ltmWish, type LtmState, type LtmWish } from './ltm.ts';
export { keepsClaim } from './ingress-wish.ts';
export { manual } from './manual.ts';
export { auto, type Answer, type Application, type Approver, type PolicyAt } from './approver.ts';
export { applications, type TicketQuestion } from './model.ts';
export { part, type Part, type ServicePortRef } from './part.ts';
export { configMap, type ConfigMapAnswer, type ConfigMapQuestion, type Contribution, type Entry } from './configmap.ts';
export { step, events, states, type Effect, type Event, type State, type Step } from './life.ts';
export { annotations, configMapName, finalizer, partitionOf, placeOf, tenantOf, ticketName } from './names.ts';
