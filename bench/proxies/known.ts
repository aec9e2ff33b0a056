import { bareRelay } from './bare-relay.ts'
import { bifrost } from './bifrost.ts'
import { haproxy } from './haproxy.ts'
import { litellm } from './litellm.ts'
import { llmsPy } from './llms-py.ts'
import { nginx } from './nginx.ts'
import { portkey } from './portkey.ts'
import type { Proxy } from './proxy.ts'
import { svc } from './svc.ts'

/** Every proxy that the bench can start, in the order of its tables. */
export const allProxies: readonly Proxy[] = [nginx, haproxy, bareRelay, svc, portkey, bifrost, litellm, llmsPy]

/** Names of those that a run compares unless told otherwise. */
export const usualProxies: readonly string[] = [nginx, haproxy, bareRelay, svc, portkey].map(({ name }) => name)

/** Names of those that the side by side compares: products. */
export const sideBySideProxies: readonly string[] = allProxies
  .filter(({ kind }) => kind !== 'floor')
  .map(({ name }) => name)
