import type { Host } from '../../extension.ts'
import type { Settings } from '../settings/settings.ts'
import type { IdentityProvider } from './identity-provider.ts'
import { oauthProvider } from './oauth-provider.ts'
import { openidProvider } from './openid-provider.ts'
import type { TimeLimits } from './provider-request.ts'

/** 10 seconds per request, 20 for all requests of a sign-in. */
const defaultLimits: TimeLimits = { requestMs: 10_000, totalMs: 20_000 }

/** Creates the configured identity provider. Sends no request before the first sign-in. */
export function identityProvider(settings: Settings, host: Host, limits: TimeLimits = defaultLimits): IdentityProvider {
  const { endpoints } = settings
  return endpoints.kind === 'openid'
    ? openidProvider(settings, endpoints.issuer, host, limits)
    : oauthProvider(settings, endpoints, host, limits)
}
