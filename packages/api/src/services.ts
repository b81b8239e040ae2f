// Services with their shares of the requests, as listners and rules name them.
import { type Static, Type } from 'typebox';
import { label, listMap, port, ruled } from './schema.ts';

const weightedService = Type.Object(
  {
    service: label({
      title: 'Service',
      description: "Name of a Service in the ticket's namespace of the target cluster.",
    }),
    port: port({ title: 'Port', description: 'Port of the Service, 1 to 65535.' }),
    weight: Type.Integer({
      title: 'Weight',
      description:
        'Share of the requests, 0 to 100, relative to the sum of all weights in the list. 0: none, unless everything else is down.',
      format: 'int32',
      minimum: 0,
      maximum: 100,
    }),
  },
  { title: 'Weighted service', description: 'One port of one Service, and its share of the requests.' },
);

export type WeightedService = Static<typeof weightedService>;

export const weightedServices = (description: string) =>
  ruled(listMap(weightedService, ['service', 'port'], { title: 'Services', description, minItems: 1, maxItems: 32 }), {
    cel: 'self.exists(s, s.weight > 0)',
    message: 'weights must have a positive sum: give at least one service a weight from 1 to 100',
    zh: '权重之和必须大于 0:请至少为一个 Service 设置 1 到 100 的权重',
    holds: (services) => services.some((s) => s.weight > 0),
  });
