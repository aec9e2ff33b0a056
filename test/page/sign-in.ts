import type { Person, Tab } from '../fakes/chromium.ts'
import type { OidcProvider } from '../fakes/identity/oidc-provider.ts'
import type { SignInRig } from '../sign-in/rig.ts'

/** Signs somebody in from the page, through the forms of oidc-provider, until their avatar is there. */
export async function signInThroughPage(browser: Person, rig: SignInRig<OidcProvider>, person = 'ada', tab: Tab = browser.tab()): Promise<void> {
  await tab.goto(`${rig.service.url}/`)
  await tab.click('role=link[name=/sign in with/i]')
  await passForms(tab, rig, person)
  await tab.waitFor('[aria-label^="Account of"]')
  for (const [name, value] of await browser.cookies()) if (/^token$|^svc_flow_/.test(name)) rig.remember(value)
}

/** From the login form of oidc-provider back to the service. */
export async function passForms(tab: Tab, rig: SignInRig<OidcProvider>, person: string): Promise<void> {
  await tab.fill('input[name=login]', `id-${person}`)
  await tab.fill('input[name=password]', 'any')
  await tab.click('button[type=submit]')
  await tab.waitFor('role=button[name=Continue]')
  await tab.click('role=button[name=Continue]')
  await tab.waitForUrl(`${rig.service.url}/**`)
}
