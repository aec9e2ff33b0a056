/** Values of nine ways to run the chart. */

const image = { repository: 'registry.example.com/team/svc' }
const providers = { providers: [{ id: 'groq', api_key: { file: '/run/secrets/svc/groq' } }] }
const signIn = {
  client_id: 'svc',
  client_secret: '$CLIENT_SECRET',
  redirect_uri: 'https://svc.example.com/auth/provider/callback',
}
const shared = { databaseKey: 'database', storeKey: 'store' }
const keys = { image, auth: ['keys'], existingSecret: 'svc-keys', config: { providers } }

export const ways = {
  'open to all, one replica': { image, openToAll: true, config: { providers: { providers: [{ id: 'echo' }] } } },
  'two replicas with keys': { ...keys, shared, replicaCount: 2 },
  'one replica with a volume': {
    ...keys,
    persistence: { enabled: true, size: '1Gi' },
    config: { providers, access: { time_zone: 'Europe/Berlin' }, signIn },
    auth: ['keys', 'provider_auth'],
  },
  'sign-in behind an Ingress': {
    ...keys,
    auth: ['provider_auth'],
    config: { providers, signIn },
    ingress: {
      enabled: true,
      className: 'nginx',
      hosts: ['svc.example.com'],
      tls: [{ secretName: 'svc-tls', hosts: ['svc.example.com'] }],
      annotations: { 'nginx.ingress.kubernetes.io/proxy-buffering': 'off' },
    },
  },
  'a Gateway': {
    ...keys,
    shared,
    httpRoute: { enabled: true, parentRefs: [{ name: 'public', namespace: 'infra' }], hostnames: ['svc.example.com'] },
    corsOrigins: ['https://svc.example.com'],
  },
  'as many replicas as are needed, in a closed network': {
    ...keys,
    shared,
    autoscaling: { enabled: true },
    metricsPort: 9464,
    serviceMonitor: { enabled: true },
    networkPolicy: {
      enabled: true,
      metricsFrom: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
      from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress' } } }],
      egress: [{ ports: [{ protocol: 'TCP', port: 443 }] }, { ports: [{ protocol: 'UDP', port: 53 }] }],
    },
  },
  Prometheus: {
    ...keys,
    shared,
    drain: { ms: 120_500, windowMs: 10_000 },
    serviceMonitor: { enabled: true, labels: { release: 'prometheus' }, keySecret: { name: 'svc-metrics' } },
  },
  'everything of its own': {
    image: { ...image, digest: `sha256:${'0'.repeat(64)}` },
    imagePullSecrets: [{ name: 'registry' }],
    auth: ['keys', 'provider_auth'],
    existingConfigMap: 'gateway-files',
    existingSecret: 'svc-keys',
    shared: { ...shared, historyKey: 'history' },
    replicaCount: 3,
    extraArgs: ['--log-level', 'debug'],
    extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/company/ca.pem' }],
    extraEnvFrom: [{ secretRef: { name: 'more' } }],
    extraVolumes: [{ name: 'company', configMap: { name: 'company-ca' } }],
    extraVolumeMounts: [{ name: 'company', mountPath: '/etc/company', readOnly: true }],
    podAnnotations: { team: 'models' },
    podLabels: { tier: 'gateway' },
    nodeSelector: { pool: 'gateways' },
    tolerations: [{ key: 'gateways', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
    priorityClassName: 'important',
    topologySpreadConstraints: [
      { topologyKey: 'kubernetes.io/hostname', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' },
    ],
    serviceAccount: { create: false, name: 'gateway' },
    fullnameOverride: 'gateway',
  },
  'a file with comments, and a balancer of the cloud': {
    ...keys,
    shared,
    config: {
      providers: '// The first one is free.\n{ "providers": [{ "id": "groq", "api_key": "$GROQ_API_KEY" }] }\n',
    },
    workers: 'auto',
    service: { type: 'LoadBalancer', port: 8080, sessionAffinity: 'ClientIP', annotations: { internal: 'true' } },
  },
} as const

/** Values that the chart refuses, with a part of the reason. */
export const refusals: readonly (readonly [string, object])[] = [
  ['openToAll: true lets everyone', { image, config: { providers } }],
  ['config.providers', { ...keys, config: {}, shared }],
  ['image.repository', { ...keys, image: {}, shared }],
  ['keys need shared.databaseKey', keys],
  ['provider_auth needs config.signIn', { ...keys, auth: ['provider_auth'] }],
  ['provider_auth needs config.signIn', { ...keys, auth: ['provider_auth'], persistence: { enabled: true } }],
  ['one replica only', { ...keys, persistence: { enabled: true }, replicaCount: 2 }],
  ['one replica only', { ...keys, persistence: { enabled: true }, autoscaling: { enabled: true } }],
  ['name the Secret in existingSecret', { ...keys, shared, existingSecret: '' }],
  ['scope metrics:read', { ...keys, shared, serviceMonitor: { enabled: true } }],
  ['name at least one host', { ...keys, shared, ingress: { enabled: true } }],
  ['name a Gateway', { ...keys, shared, httpRoute: { enabled: true } }],
]
