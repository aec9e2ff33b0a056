import type { SetUp, SetUpProvider } from '../../extension.ts'
import { presetNames, presets, type Preset, type PresetName } from './presets.ts'

const registerUrls: Readonly<Partial<Record<PresetName, string>>> = {
  github: 'https://github.com/settings/applications/new',
  gitlab: 'https://gitlab.com/-/user_settings/applications',
  google: 'https://console.cloud.google.com/apis/credentials',
  microsoft: 'https://entra.microsoft.com/#view/Microsoft_AAD_RegisteredApps/ApplicationsListBlade',
}

/** The `id` of a provider without a preset, which is found by its issuer. */
const openid = 'openid'

/** Set-up on the page: a preset, or the issuer of an OpenID Connect provider (docs/sign-in.md). */
export const setUp: SetUp = {
  providers: [
    ...presetNames.map(presetEntry),
    { id: openid, name: 'OpenID Connect', place: { kind: 'issuer', isRequired: true } },
  ],
  secretMember: 'client_secret',
  callbackPath: '/auth/provider/callback',
  members({ provider, place, clientId, clientSecret, redirectUri, users }) {
    const isOpenid = provider === openid
    return {
      enabled: undefined,
      provider: isOpenid ? undefined : provider,
      base_url: isOpenid || provider === 'microsoft' ? undefined : place,
      tenant: provider === 'microsoft' ? place : undefined,
      issuer: isOpenid ? place : undefined,
      authorize_url: undefined,
      token_url: undefined,
      user_url: undefined,
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uri: redirectUri,
      restrict_to: users,
    }
  },
}

function presetEntry(id: PresetName): SetUpProvider {
  const { displayName, endpoints, endpointsAt, tenant }: Preset = presets[id]
  const registerUrl = registerUrls[id]
  const kind = tenant === undefined ? 'server' : 'directory'
  return {
    id,
    name: displayName,
    ...(endpointsAt === undefined && tenant === undefined
      ? {}
      : { place: { kind, isRequired: endpoints === undefined } }),
    ...(registerUrl === undefined ? {} : { registerUrl }),
  }
}
