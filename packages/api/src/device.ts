// The two devices of a load balancer: where each is, how to log in, and the addresses it may give out.
import { Type } from 'typebox';
import { atomicList, choice, cidr, identifier, label, objectName } from './schema.ts';

export const secretRef = (title: string, description: string) =>
  Type.Object(
    {
      name: objectName({ title: 'Name', description: 'Name of the Secret.' }),
      namespace: Type.Optional(
        label({ title: 'Namespace', description: "Namespace of the Secret; the controller's own when absent." }),
      ),
    },
    { title, description },
  );

const exclude = atomicList(
  Type.String({ maxLength: 91, minLength: 2, pattern: '^[0-9A-Fa-f.:]+([/-][0-9A-Fa-f.:]+)?$' }),
  {
    title: 'Excluded addresses',
    description: 'Never given out: addresses, networks (10.0.0.0/28) or ranges (10.0.0.1-10.0.0.9).',
    maxItems: 256,
  },
);

export const ltm = Type.Object(
  {
    url: Type.String({
      title: 'URL',
      description: 'Where the LTM, or the API in front of it, is found.',
      maxLength: 2048,
      pattern: '^https?://[^/\\s]+\\S*$',
    }),
    token: Type.Optional(
      Type.String({
        title: 'Token',
        description: 'Bearer token in the clear. Better: tokenSecretRef.',
        format: 'password',
        maxLength: 4096,
      }),
    ),
    tokenSecretRef: Type.Optional(secretRef('Token Secret', 'Secret with the bearer token under key `token`.')),
    cidr: cidr({ title: 'Network', description: 'First-layer addresses are given out of this network.' }),
    exclude: Type.Optional(exclude),
    mode: choice(['allocate', 'as3'], {
      title: 'Mode',
      description:
        'allocate: only give out addresses. as3: also configure the LTM address to forward to the VE address, by AS3 on the LTM.',
      default: 'allocate',
    }),
  },
  { title: 'LTM', description: 'The first-layer device and the addresses it may give out.' },
);

export const ve = Type.Object(
  {
    addr: Type.String({
      title: 'Address',
      description: 'Host, or host:port, of the management interface. An IPv6 address with a port stands in brackets.',
      minLength: 1,
      maxLength: 260,
      pattern: '^([A-Za-z0-9.-]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?$|^[0-9A-Fa-f:]+$',
    }),
    user: Type.Optional(
      Type.String({ title: 'User', description: 'User name on the device.', minLength: 1, maxLength: 256 }),
    ),
    passwd: Type.Optional(
      Type.String({
        title: 'Password',
        description: 'Password in the clear. Better: credentialsSecretRef.',
        format: 'password',
        maxLength: 4096,
      }),
    ),
    credentialsSecretRef: Type.Optional(
      secretRef('Credentials Secret', 'Secret with keys `username` and `password`; wins over user and passwd.'),
    ),
    cidr: cidr({
      title: 'Network',
      description: 'Second-layer addresses (virtual servers) are given out of this network.',
    }),
    exclude: Type.Optional(exclude),
    partition: Type.Optional(
      identifier({
        title: 'Partition',
        description:
          'Partition on the device; made from cis.tenant when absent. With an external CIS: the one that it was started with, for Ingresses.',
      }),
    ),
    tls: Type.Optional(
      Type.Object(
        {
          caSecretRef: Type.Optional(
            secretRef('CA Secret', "Secret whose key `ca.crt` signed the device's certificate."),
          ),
          insecureSkipVerify: Type.Optional(
            Type.Boolean({
              title: 'Skip verification',
              description: 'Accept any certificate. Anyone on the path can then read the credentials: for trials only.',
            }),
          ),
        },
        { title: 'TLS', description: "How the device's certificate is verified." },
      ),
    ),
  },
  {
    title: 'VE',
    description: 'The second-layer device, which holds the virtual servers, and the addresses it may give out.',
  },
);
