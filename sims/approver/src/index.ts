// A simulated approver of network policies, as spec/tickets.md §6 describes one.
export {
  approver,
  type Application,
  type Approver,
  type ApproverOptions,
  type Fault,
  type Status,
} from './approver.ts';
