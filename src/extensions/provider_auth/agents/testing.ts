import type { FakeHost } from '../../testing.ts'
import type { Identity } from '../oauth/identity-provider.ts'
import type { Settings } from '../settings/settings.ts'
import { ada, browserHeaders, settingsForTests, signInUnderTest, type SignInUnderTest } from '../testing.ts'

export const settingsWithAgents: Settings = { ...settingsForTests, hasAgents: true }

/** A JSON answer, with its status. */
export interface JsonAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly headers: Headers
}

/** The codes of a flow. */
export interface Codes {
  readonly device: string
  readonly user: string
}

/** Sign-in of agents over fakes, with a browser and an agent. */
export interface AgentsUnderTest {
  readonly subject: SignInUnderTest
  readonly host: FakeHost
  /** Sends a form, as an agent does. */
  post(path: string, form: Readonly<Record<string, string>>, address?: string): Promise<JsonAnswer>
  start(address?: string): Promise<Codes>
  poll(codes: Codes): Promise<JsonAnswer>
  refresh(token: string): Promise<JsonAnswer>
  /** A browser in which someone has signed in. */
  browser(person?: Identity, address?: string): Promise<AgentBrowser>
  /** A whole sign-in. @returns the answer with the tokens */
  signIn(person?: Identity): Promise<AgentTokens>
  /** The status that a request for a model with this access token gets; 200: it is recognised. */
  use(access: string): Promise<number>
  withSettings(settings: Settings): AgentsUnderTest
}

export interface AgentTokens {
  readonly access: string
  readonly refresh: string
}

/** A page of a browser. */
export interface ShownPage {
  readonly status: number
  readonly text: string
  readonly headers: Headers
  /** The hidden fields of the form with this action. */
  fieldsOf(action: string): Readonly<Record<string, string>> | undefined
}

export interface AgentBrowser {
  readonly cookie: string
  get(path: string): Promise<ShownPage>
  /** @param headers in place of those of the browser */
  post(form: Readonly<Record<string, string>>, headers?: Readonly<Record<string, string>>): Promise<ShownPage>
  /** Opens the page and enters a code. */
  enter(userCode: string): Promise<ShownPage>
  /** Enters a code and presses a button. */
  decide(userCode: string, action: 'approve' | 'deny'): Promise<ShownPage>
}

const formType = { 'content-type': 'application/x-www-form-urlencoded' }

/** Sign-in of agents over fakes. */
export function agentsUnderTest(subject: SignInUnderTest = signInUnderTest(settingsWithAgents)): AgentsUnderTest {
  async function post(path: string, form: Readonly<Record<string, string>>, address?: string): Promise<JsonAnswer> {
    const body = new URLSearchParams(form).toString()
    const options = { method: 'POST', headers: formType, body, ...(address === undefined ? {} : { address }) }
    const response = await subject.request(path, options)
    const read: unknown = JSON.parse(await response.text())
    return { status: response.status, headers: response.headers, body: Object(read) }
  }

  const test: AgentsUnderTest = {
    subject,
    host: subject.host,
    post,
    async start(address) {
      const { body } = await post('/oauth/device_authorization', { surface: 'claude_code' }, address)
      return { device: String(body['device_code']), user: String(body['user_code']) }
    },
    poll: ({ device }) => post('/oauth/token', { grant_type: deviceGrant, device_code: device }),
    refresh: (token) => post('/oauth/token', { grant_type: 'refresh_token', refresh_token: token }),
    async browser(person = ada, address = '203.0.113.9') {
      return browserOf(subject, `token=${await subject.signIn(person)}`, address)
    },
    async signIn(person = ada) {
      const codes = await test.start()
      await (await test.browser(person)).decide(codes.user, 'approve')
      const { body } = await test.poll(codes)
      return { access: String(body['access_token']), refresh: String(body['refresh_token']) }
    },
    async use(access) {
      const request = new Request('https://svc.test/v1/messages', { headers: { authorization: `Bearer ${access}` } })
      const visit = { request, path: '/v1/messages', address: '203.0.113.9', id: 'request-1' }
      try {
        return (await subject.contribution.recognise?.(visit))?.name === undefined ? 0 : 200
      } catch (error) {
        return error instanceof Error && 'status' in error ? Number(error.status) : 500
      }
    },
    withSettings: (settings) => agentsUnderTest(subject.withSettings(settings)),
  }
  return test
}

export const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

function browserOf(subject: SignInUnderTest, cookie: string, address: string): AgentBrowser {
  const own = { ...browserHeaders, cookie, 'sec-fetch-site': 'same-origin' }
  const browser: AgentBrowser = {
    cookie,
    get: async (path) => shown(await subject.request(path, { headers: own, address })),
    async post(form, headers = own) {
      const body = new URLSearchParams(form).toString()
      return shown(
        await subject.request('/device', { method: 'POST', headers: { ...formType, ...headers }, body, address }),
      )
    },
    async enter(userCode) {
      const fields = (await browser.get('/device')).fieldsOf('look') ?? {}
      return await browser.post({ ...fields, user_code: userCode })
    },
    async decide(userCode, action) {
      const fields = (await browser.enter(userCode)).fieldsOf(action)
      if (fields === undefined) throw new Error(`the page has no form to ${action}`)
      return await browser.post(fields)
    },
  }
  return browser
}

async function shown(response: Response): Promise<ShownPage> {
  const text = await response.text()
  return {
    ...{ status: response.status, text, headers: response.headers },
    fieldsOf(action) {
      const forms = Array.from(text.matchAll(/<form[^>]*>([^]*?)<\/form>/g), ([, form = '']) =>
        Object.fromEntries(
          Array.from(
            form.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g),
            ([, name = '', value = '']) => [name, value],
          ),
        ),
      )
      return forms.find((fields) => fields['action'] === action)
    },
  }
}
