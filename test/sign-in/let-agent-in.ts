import type { Github } from '../fakes/identity/github.ts'
import type { SignInRig } from './rig.ts'

/** The fields of a form of the page. */
function fieldsOf(page: string, action: string): Readonly<Record<string, string>> {
  const form = page.split('<form').find((each) => each.includes(`name="action" value="${action}"`)) ?? ''
  return Object.fromEntries(
    Array.from(form.matchAll(/name="(\w+)" value="([^"]*)"/g), ([, name = '', value = '']) => [name, value]),
  )
}

/** In a new browser, a person opens the address of a code, signs in, and lets the agent in. @throws if that fails */
export async function letAgentIn(
  rig: Pick<SignInRig<Github>, 'browser' | 'provider'>,
  url: string,
  userCode: string,
  person = 'ada',
): Promise<void> {
  const browser = rig.browser()
  const first = await browser.visit(`${url}/device?user_code=${userCode}`)
  const [, signIn = ''] = /href="([^"]*)"/.exec(first.text) ?? []
  if (signIn !== `/auth/provider?device=${userCode}`) throw new Error(`no sign-in first: ${first.text}`)
  const started = await browser.visit(url + signIn)
  const back = await browser.visit(await rig.provider.approve(browser, started.location ?? '', person))
  const asked = await browser.visit(back.location ?? '')
  const press = (text: string, action: string) =>
    browser.visit(`${url}/device`, { form: fieldsOf(text, action), headers: { 'sec-fetch-site': 'same-origin' } })
  const done = await press((await press(asked.text, 'look')).text, 'approve')
  if (!done.text.includes('The agent is let in')) throw new Error(done.text)
}
