import { aisix } from './aisix.ts'
import { bifrost } from './bifrost.ts'
import { gomodel } from './gomodel.ts'
import { haproxy } from './haproxy.ts'
import { litellm } from './litellm.ts'
import { llmsPy } from './llms-py.ts'
import { nginx } from './nginx.ts'
import { portkey } from './portkey.ts'
import type { Proxy } from './proxy.ts'
import { serveRaw } from './serve-raw.ts'
import { svc, svcBefore } from './svc.ts'

/** All proxies, in the order of the tables. */
export const allProxies: readonly Proxy[] = [
  nginx,
  haproxy,
  serveRaw,
  svc,
  svcBefore,
  portkey,
  gomodel,
  aisix,
  bifrost,
  litellm,
  llmsPy,
]

/** Names of the proxies of a run by default. */
export const usualProxies: readonly string[] = [nginx, haproxy, serveRaw, svc].map(({ name }) => name)

/** Names of the proxies of the side by side: all products. */
export const sideBySideProxies: readonly string[] = allProxies
  .filter((proxy) => proxy.kind !== 'floor' && proxy !== svcBefore)
  .map(({ name }) => name)
