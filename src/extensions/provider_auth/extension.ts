import type { Extension } from '../extension.ts'
import { identityProvider } from './oauth/make-identity-provider.ts'
import { parseSettings } from './settings/parse-settings.ts'
import { setUp } from './settings/set-up.ts'
import { signIn } from './sign-in.ts'

/** Sign-in at an identity provider, before anything else may be used (docs/sign-in.md). */
export const extension: Extension = {
  name: 'provider_auth',
  setUp,

  async start(host) {
    const config = await host.config()
    const parsed = config === undefined ? undefined : parseSettings(config)
    if (parsed === undefined) return undefined
    const { settings, warnings } = parsed
    for (const warning of warnings) host.log.warn(warning)
    return signIn(host, settings, settings.client === undefined ? undefined : identityProvider(settings, host))
  },
}
