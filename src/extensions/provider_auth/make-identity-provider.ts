import type { Host } from '../extension.ts'
import type { TimeLimits } from './ask.ts'
import type { IdentityProvider } from './identity-provider.ts'
import { oauthProvider } from './oauth-provider.ts'
import { openidProvider } from './openid-provider.ts'
import type { Settings } from './settings.ts'

/** 10 seconds an answer, 20 for all of one sign-in. */
const defaultLimits: TimeLimits = { requestMs: 10_000, totalMs: 20_000 }

/** The identity provider of a configuration. Nothing is asked before somebody signs in. */
export function identityProvider(settings: Settings, host: Host, limits: TimeLimits = defaultLimits): IdentityProvider {
  const { endpoints } = settings
  return endpoints.kind === 'openid'
    ? openidProvider(settings, endpoints.issuer, host, limits)
    : oauthProvider(settings, endpoints, host, limits)
}
