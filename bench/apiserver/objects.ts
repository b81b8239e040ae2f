// What the load consists of: pods as a Deployment makes them, and small ConfigMaps.

export const namespace = 'default';
export const podsPath = `/api/v1/namespaces/${namespace}/pods`;
export const mapsPath = `/api/v1/namespaces/${namespace}/configmaps`;

/** About 2 KB as sent, with probes, resources and environment; `n` makes it one of a kind. */
export const podText = (n: number): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podName(n),
      namespace,
      labels: { app: `shop-${n % 100}`, 'pod-template-hash': '6d4b75cb6d', 'topology.kubernetes.io/zone': `z${n % 3}` },
      annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '9102', owner: 'team-payments' },
    },
    spec: {
      nodeName: `node-${n % 50}`,
      terminationGracePeriodSeconds: 30,
      containers: [container('web', 8080, n), container('metrics', 9102, n)],
      tolerations: [
        { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      ],
      volumes: [{ name: 'settings', configMap: { name: `shop-${n % 100}` } }],
    },
  });

export const podName = (n: number): string => `shop-6d4b75cb6d-${String(n).padStart(6, '0')}`;

function container(name: string, port: number, n: number): object {
  return {
    name,
    image: `registry.example.com/shop/${name}:1.4.${n % 7}`,
    imagePullPolicy: 'IfNotPresent',
    ports: [{ name: 'http', containerPort: port, protocol: 'TCP' }],
    env: [
      { name: 'LOG_LEVEL', value: 'info' },
      { name: 'REGION', value: 'region01' },
      { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    ],
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '1', memory: '512Mi' } },
    readinessProbe: { httpGet: { path: '/ready', port: 'http' }, periodSeconds: 5, failureThreshold: 3 },
    livenessProbe: { httpGet: { path: '/live', port: 'http' }, periodSeconds: 10 },
    volumeMounts: [{ name: 'settings', mountPath: '/etc/shop', readOnly: true }],
  };
}

export const mapName = (n: number): string => `settings-${String(n).padStart(6, '0')}`;

/** A ConfigMap of about 500 bytes. */
export const mapText = (n: number, value: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: mapName(n), namespace, labels: { app: `shop-${n % 100}` } },
    data: { 'settings.properties': `${'timeout=30\nretries=3\n'.repeat(15)}value=${value}\n` },
  });
