import { createHash } from 'node:crypto'
import { escapeHtml } from '../../../base/escape-html.ts'
import { securityHeaders } from '../responses.ts'

/*
 * The page where a person lets an agent in, and sees those that are in. It has no script: it is read where someone
 * was sent by a link, and each of its buttons is a form of this origin. Texts of programs are escaped.
 */

const style = `
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
  body { max-width: 36rem; margin: 8vh auto; padding: 0 1.5rem; overflow-wrap: anywhere }
  h1 { font-size: 1.5rem }
  h2 { font-size: 1.125rem; margin-top: 2.5rem }
  input { font: 1.25rem ui-monospace, monospace; padding: .5rem; width: 12rem; max-width: 100% }
  button { font: inherit; padding: .5rem 1rem; min-height: 2.75rem; margin: .25rem .5rem .25rem 0 }
  dt { opacity: .7 }
  dd { margin: 0 0 .75rem }
  li { margin-bottom: 1rem }
  code { font-size: 1.25rem }
  .warning { border-left: .25rem solid #c33; padding-left: .75rem }
`
const styleHash = createHash('sha256').update(style).digest('base64')
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** Text that is HTML. */
interface Markup {
  readonly html: string
}

/** HTML of a template: its values are escaped unless they are HTML. */
function markup(texts: TemplateStringsArray, ...values: readonly (string | Markup | readonly Markup[])[]): Markup {
  const written = values.map((value) => {
    if (typeof value === 'string') return escapeHtml(value)
    return 'html' in value ? value.html : value.map((each) => each.html).join('')
  })
  return { html: String.raw({ raw: texts }, ...written) }
}

/** Not `no-referrer`, with which browsers hide the origin of the forms, which proves where they come from. */
const referrerPolicy = 'same-origin'

function page(title: string, content: Markup, status = 200): Response {
  const { html } = markup`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${{ html: style }}</style>
<main>
<h1>${title}</h1>
${content}
<p><a href="/">Back to the start</a></p>
</main>
</html>
`
  return new Response(html, {
    status,
    headers: {
      ...securityHeaders,
      'referrer-policy': referrerPolicy,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
    },
  })
}

/** A form with hidden fields. */
function form(action: string, fields: Readonly<Record<string, string>>, content: Markup): Markup {
  const hidden = Object.entries({ action, ...fields }).map(
    ([name, value]) => markup`<input type="hidden" name="${name}" value="${value}">
`,
  )
  return markup`<form method="post" action="/device">
${hidden}${content}
</form>
`
}

/** For a visitor without a session. @param userCode goes with them through the sign-in */
export function signInPage(userCode: string | undefined): Response {
  const path = `/auth/provider?device${userCode === undefined ? '' : `=${userCode}`}`
  return page(
    'Let an agent in',
    markup`<p>Sign in first. Then enter the code that the agent on your machine shows.</p>
<p><a href="${path}">Sign in</a></p>`,
  )
}

/** An agent as the page lists it. */
export interface ShownAgent {
  readonly id: string
  readonly agent: string
  readonly from: string
  readonly made: string
  readonly ends: string
  readonly used: string
  /** Proves that this page was made for this session. */
  readonly state: string
}

interface CodePage {
  readonly user: string
  /** From the address; not looked up. */
  readonly userCode: string | undefined
  readonly state: string
  readonly agents: readonly ShownAgent[]
  /** Why an entered code was not taken. */
  readonly problem?: string
  readonly status?: number
}

/** Asks for a code, and lists the person's agents. */
export function codePage({ user, userCode = '', state, agents, problem, status }: CodePage): Response {
  const entry = markup`<p><label>Code<br><input name="user_code" value="${userCode}" maxlength="20"
autocomplete="off" autocapitalize="characters" spellcheck="false" required></label></p>
<p><button>Go on</button></p>`
  return page(
    'Let an agent in',
    markup`${problem === undefined ? [] : [markup`<p class="warning" role="alert">${problem}</p>`]}
<p>You are ${user}. Enter the code only if you have just started a sign-in yourself, and your machine shows this code.
Never enter one that someone has sent you.</p>
${form('look', { state }, entry)}
<h2>My agents</h2>
${agents.length === 0 ? markup`<p>None is signed in.</p>` : markup`<ul>${agents.map(agentItem)}</ul>`}`,
    status,
  )
}

function agentItem({ id, agent, from, made, ends, used, state }: ShownAgent): Markup {
  return markup`<li>${agent}<br>
<small>from ${from}, let in ${made}, last used ${used}, ends ${ends}</small>
${form('end', { agent: id, state }, markup`<button>End</button>`)}</li>
`
}

interface ConfirmPage {
  readonly user: string
  readonly userCode: string
  readonly agent: string
  readonly from: string
  readonly secondsAgo: number
  /** The program asked from another network than the browser is in. */
  readonly isFromElsewhere: boolean
  /** The person must sign in anew first. */
  readonly needsSignIn: boolean
  readonly days: number
  readonly state: string
}

/** Shows what asks, and has two buttons. None of them is the default. */
export function confirmPage(given: ConfirmPage): Response {
  const { user, userCode, agent, from, secondsAgo, isFromElsewhere, needsSignIn, days, state } = given
  const fields = { user_code: userCode, state }
  const approve = needsSignIn
    ? markup`<p><a href="/auth/provider?device=${userCode}">Sign in again to let it in</a></p>`
    : form('approve', fields, markup`<button>This is my device: let it in</button>`)
  const warning = markup`<p class="warning" role="alert">It asked from another network than this browser is in.
If you did not start it yourself, on a machine elsewhere, someone is trying to use your account: deny it.</p>`
  return page(
    'Is this your device?',
    markup`${isFromElsewhere ? [warning] : []}
<dl>
<dt>Code</dt><dd><code>${userCode}</code></dd>
<dt>Program, as it calls itself</dt><dd>${agent}</dd>
<dt>Asked from</dt><dd>${from}, ${String(secondsAgo)} seconds ago</dd>
<dt>It will act as</dt><dd>${user}</dd>
<dt>It may</dt><dd>list and use models for ${String(days)} days, counted as yours. It cannot use this page.</dd>
</dl>
${approve}
${form('deny', fields, markup`<button>Deny</button>`)}`,
  )
}

/** After a decision. */
export function decidedPage(agent: string, isApproved: boolean): Response {
  return page(
    isApproved ? 'The agent is let in' : 'The agent is denied',
    markup`<p>${agent} ${isApproved ? 'goes on within a few seconds. You can close this page.' : 'gets no access.'}</p>
<p><a href="/device">My agents</a></p>`,
  )
}
