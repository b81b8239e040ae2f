// The copies of our kinds that controllers and admission go by.
import { lbcanaries, lbrules, lbtickets, loadbalancers } from '@fairlead/api';
import { store, type Kube } from '@fairlead/kube';
import { shortTickets, withoutManagers } from './projections.ts';

export function managementStores(kube: Kube) {
  const project = withoutManagers;
  return {
    loadbalancers: store(kube, loadbalancers, { project }),
    lbtickets: store(kube, lbtickets, { project: shortTickets() }),
    lbrules: store(kube, lbrules, { project }),
    lbcanaries: store(kube, lbcanaries, { project }),
  };
}
