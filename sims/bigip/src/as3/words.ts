// The properties each AS3 class may have here (AS3 3.56 schema). What is in neither list is refused by name.

/** `carried` does something in this simulator. `quiet` is taken as a device takes it, and has no effect that traffic shows. */
interface Words {
  carried: readonly string[];
  quiet: readonly string[];
}

const named = ['class', 'label', 'remark'];

const service: Words = {
  carried: [
    ...named,
    'virtualAddresses',
    'virtualPort',
    'pool',
    'iRules',
    'persistenceMethods',
    'fallbackPersistenceMethod',
    'enable',
    'adminState',
    'maxConnections',
    'shareAddresses',
  ],
  quiet: [
    'layer4',
    'virtualType',
    'snat',
    'lastHop',
    'mirroring',
    'metadata',
    'translateServerAddress',
    'translateServerPort',
    'translateClientPort',
    'nat64Enabled',
    'serviceDownImmediateAction',
    'addressStatus',
    'allowVlans',
    'rejectVlans',
    'profileTCP',
    'profileUDP',
    'profileL4',
    'profileMultiplex',
    'profileHTTPCompression',
    'profileHTTPAcceleration',
    'profileAnalytics',
    'profileTrafficLog',
    'securityLogProfiles',
    'httpMrfRoutingEnabled',
    'serversslUseSni',
    'ipIntelligencePolicy',
    'rateLimit',
    'profileStatistics',
  ],
};

const http: Words = { carried: [...service.carried, 'profileHTTP'], quiet: service.quiet };

export const classes: Record<string, Words> = {
  ADC: {
    carried: ['class', 'schemaVersion', 'id', 'label', 'remark', 'updateMode', 'controls', '$schema'],
    quiet: ['target', 'constants', 'scratch'],
  },
  Tenant: {
    carried: [...named, 'enable', 'optimisticLockKey', 'Shared'],
    quiet: ['defaultRouteDomain', 'useCommonRouteDomainTenant', 'constants', 'controls', 'verifiers'],
  },
  Application: { carried: [...named, 'template', 'enable'], quiet: ['constants', 'schemaOverlay'] },
  Service_HTTP: http,
  Service_HTTPS: { carried: [...http.carried, 'serverTLS', 'clientTLS', 'redirect80'], quiet: http.quiet },
  Service_TCP: { carried: [...service.carried, 'serverTLS', 'clientTLS'], quiet: service.quiet },
  Service_L4: service,
  Service_UDP: service,
  Pool: {
    carried: [...named, 'members', 'monitors', 'minimumMonitors', 'loadBalancingMode', 'minimumMembersActive'],
    quiet: ['allowNATEnabled', 'allowSNATEnabled', 'metadata', 'reselectTries', 'serviceDownAction', 'slowRampTime'],
  },
  Pool_Member: {
    carried: [
      'remark',
      'servicePort',
      'serverAddresses',
      'servers',
      'ratio',
      'priorityGroup',
      'connectionLimit',
      'adminState',
      'enable',
      'shareNodes',
      'addressDiscovery',
    ],
    quiet: ['rateLimit', 'dynamicRatio', 'metadata', 'routeDomain'],
  },
  Monitor: {
    carried: [...named, 'monitorType', 'interval', 'timeout', 'send', 'receive', 'targetAddress', 'targetPort'],
    quiet: ['upInterval', 'timeUntilUp', 'dscp', 'adaptive', 'transparent', 'reverse'],
  },
  iRule: { carried: [...named, 'iRule', 'expand'], quiet: [] },
  Data_Group: { carried: [...named, 'keyDataType', 'records', 'storageType'], quiet: ['ignoreChanges'] },
  Persist: {
    carried: [...named, 'persistenceMethod', 'duration', 'addressMask', 'cookieName', 'cookieMethod', 'alwaysSet'],
    quiet: [
      'ttl',
      'httpOnly',
      'secure',
      'mirror',
      'hashAlgorithm',
      'matchAcrossPools',
      'matchAcrossVirtualPorts',
      'matchAcrossVirtualAddresses',
      'overrideConnectionLimit',
    ],
  },
  TLS_Server: {
    carried: [...named, 'certificates'],
    quiet: [
      'ciphers',
      'tls1_0Enabled',
      'tls1_1Enabled',
      'tls1_2Enabled',
      'tls1_3Enabled',
      'requireSNI',
      'namingScheme',
      'renegotiationEnabled',
      'singleUseDhEnabled',
    ],
  },
  TLS_Client: {
    carried: [...named],
    quiet: ['sendSNI', 'serverName', 'validateCertificate', 'trustCA', 'ciphers', 'ignoreExpired', 'ignoreUntrusted'],
  },
  Certificate: { carried: [...named, 'certificate', 'privateKey', 'chainCA'], quiet: [] },
  Service_Address: {
    carried: [...named, 'virtualAddress'],
    quiet: [
      'arpEnabled',
      'icmpEcho',
      'routeAdvertisement',
      'serverScope',
      'spanningEnabled',
      'trafficGroup',
      'autoDelete',
      'useIpName',
    ],
  },
  HTTP_Profile: {
    carried: [...named, 'xForwardedFor'],
    quiet: [
      'trustXFF',
      'insertHeader',
      'serverHeaderValue',
      'maxHeaderCount',
      'maxHeaderSize',
      'pipelineAction',
      'multiplexTransformations',
    ],
  },
  Constants: { carried: [], quiet: [] },
  Controls: {
    carried: [
      'class',
      'dryRun',
      'logLevel',
      'trace',
      'traceResponse',
      'userAgent',
      'archiveId',
      'archiveTimestamp',
      'fortune',
    ],
    quiet: [],
  },
};

export function isKnown(className: string, property: string): boolean {
  const words = classes[className];
  return words !== undefined && (words.carried.includes(property) || words.quiet.includes(property));
}

export const serviceClasses = ['Service_HTTP', 'Service_HTTPS', 'Service_TCP', 'Service_UDP', 'Service_L4'] as const;

/** The classes that stand in an application. */
export const itemClasses = [
  ...serviceClasses,
  'Pool',
  'Monitor',
  'iRule',
  'Data_Group',
  'Persist',
  'TLS_Server',
  'TLS_Client',
  'Certificate',
  'Service_Address',
  'HTTP_Profile',
  'Constants',
];

/** The template that asks for a service of this class by the name serviceMain. */
export const templates: Record<string, string | undefined> = {
  generic: undefined,
  shared: undefined,
  http: 'Service_HTTP',
  https: 'Service_HTTPS',
  tcp: 'Service_TCP',
  udp: 'Service_UDP',
  l4: 'Service_L4',
};
