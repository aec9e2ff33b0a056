import type { Person, Tab } from '../fakes/chromium.ts'
import { startOidcProvider, type OidcProvider } from '../fakes/identity/oidc-provider.ts'
import { startSignIn, type SignInRig } from '../sign-in/rig.ts'
import { inChromium, type ChromiumOptions, type Scene } from './in-chromium.ts'

/** The link that begins a sign-in, the button with the avatar, and "Sign out" in its menu. */
export const signInLink = 'role=button[name=/sign in with/i]',
  account = '[aria-label^="Account of"]',
  signOutLine = 'role=menuitem[name="Sign Out"]'

/**
 * Gives Chromium and a service with sign-in by oidc-provider to the tests of a file or a `describe`, like
 * {@link inChromium}.
 */
export function inSignIn(enter: (scene: Scene<SignInRig<OidcProvider>>) => unknown, options?: ChromiumOptions): void {
  inChromium(() => startSignIn(startOidcProvider), enter, options)
}

/** Signs a person in from the page, through the forms of oidc-provider, until the avatar is shown. */
export async function signInThroughPage(
  browser: Person,
  rig: SignInRig<OidcProvider>,
  person = 'ada',
  tab: Tab = browser.tab(),
): Promise<void> {
  await tab.goto(`${rig.service.url}/`)
  await tab.click(signInLink)
  await passForms(tab, rig, person)
  await tab.waitFor(account)
  await rememberCookies(browser, rig)
}

/** Opens the page as a person who has signed in before, in another way: for tests that are not about the way. */
export async function enterSignedIn(
  browser: Person,
  rig: SignInRig,
  person = 'ada',
  tab: Tab = browser.tab(),
): Promise<void> {
  await browser.setCookie(rig.service.url, 'token', (await rig.signIn(person)).token)
  await tab.goto(`${rig.service.url}/`)
  await tab.waitFor(account)
}

/** Registers every secret of a browser's cookies with the rig. */
export async function rememberCookies(browser: Person, rig: SignInRig): Promise<void> {
  for (const [name, value] of await browser.cookies()) if (/^token$|^svc_flow_/.test(name)) rig.remember(value)
}

/** Fills in the forms of oidc-provider, back to the service. */
export async function passForms(tab: Tab, rig: SignInRig<OidcProvider>, person: string): Promise<void> {
  await tab.fill('input[name=login]', `id-${person}`)
  await tab.fill('input[name=password]', 'any')
  await tab.click('button[type=submit]')
  await tab.waitFor('role=button[name=Continue]')
  await tab.click('role=button[name=Continue]')
  await tab.waitForUrl(`${rig.service.url}/**`)
}
