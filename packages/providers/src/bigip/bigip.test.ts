// A BIG-IP keeps the rules of all places, against a simulator that refuses what a device refuses.
import type { Application } from '@fairlead/as3';
import { memberName } from '@fairlead/core';
import { bigip as sim, realClock, type Fault } from '@fairlead/sim-bigip';
import { testProvider, type FaultCode } from '@fairlead/testkit';
import { bigip } from './bigip.ts';
import type { Fetch } from './call.ts';

const refusal: Fault = { kind: 'unauthorized', only: /appsvcs/ };

const faults: Record<FaultCode, Fault[]> = {
  busy: [{ kind: 'html', only: /appsvcs/ }],
  // The second one answers the try with a new token.
  denied: [refusal, refusal],
  unreachable: [{ kind: 'reset', only: /appsvcs/ }],
  invalid: [],
};

testProvider<Application>({
  network: '10.77.31',
  async make() {
    const device = sim();
    await device.ready;
    let isRefusing = false;
    const fetch: Fetch = async (url, init) => {
      if (!isRefusing || !url.includes('/declare/') || init.method !== 'POST') return device.fetch(url, init);
      isRefusing = false;
      const results = [
        { code: 422, message: 'declaration failed', response: '01070734:3: Configuration error', tenant: 'conform' },
      ];
      return Response.json({ results }, { status: 422 });
    };
    const client = () =>
      bigip({ url: 'https://bigip.test', fetch, clock: realClock(), user: 'admin', password: 'admin' });
    return {
      provider: client(),
      other: client(),
      failNext(code) {
        isRefusing = code === 'invalid';
        device.failNext(...faults[code]);
      },
      async disable({ key, pool }, member) {
        const path = `/mgmt/tm/ltm/pool/~${key.replace('/', '~')}~${pool}/members/~${key.split('/')[0]}~${memberName(member)}`;
        const headers = { authorization: `Basic ${btoa('admin:admin')}`, 'content-type': 'application/json' };
        await device.fetch(`https://bigip.test${path}`, {
          method: 'PATCH',
          headers,
          body: JSON.stringify({ session: 'user-disabled' }),
        });
      },
      close: () => device.close(),
    };
  },
});
