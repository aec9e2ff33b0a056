import { createHash } from 'node:crypto'
import type { Visit } from '../extension.ts'
import { harmless, withStore } from './answers.ts'
import type { Credentials } from './credentials.ts'
import type { Session } from './sessions.ts'

const style = `
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; --line: light-dark(#0003, #fff3) }
  body { max-width: 24rem; margin: 15vh auto; padding: 0 1.5rem }
  main { padding: 2rem; border: 1px solid var(--line); border-radius: .75rem; text-align: center }
  h1 { margin: 0 0 1.5rem; font-size: 1.5rem; overflow-wrap: anywhere }
  img { width: 4rem; height: 4rem; border-radius: 50%; object-fit: cover }
  p { margin: 0 0 1.5rem; overflow-wrap: anywhere }
  small { display: block; opacity: .7 }
  a, button { display: inline-block; padding: .5rem 1.25rem; border: 0; border-radius: .5rem; background: light-dark(#1a56db, #8fb3ff); color: light-dark(#fff, #0b1530); font: inherit; text-decoration: none; cursor: pointer }
  a:focus-visible, button:focus-visible { outline: 3px solid light-dark(#1a56db, #8fb3ff); outline-offset: 2px }
`

// The address first: the token in it is for programs, and is not looked at here. Then: over plain http browsers say nothing of where a form
// comes from that tells nobody its address, as this page does, so signing out would be refused as somebody else's; of what a script sends they do say it.
const script = `
  if (location.search !== '') history.replaceState(null, '', location.pathname)
  addEventListener('submit', (event) => {
    event.preventDefault()
    fetch(event.target.action, { method: 'POST' }).finally(() => location.replace('/'))
  })
`

const policy = `default-src 'none'; script-src '${sourceOf(script)}'; style-src '${sourceOf(style)}'; img-src https: data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`

function sourceOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}

/** The page at `/`: where to sign in, or who is signed in. @param displayName of the identity provider */
export function signInPage(credentials: Credentials, displayName: string): (visit: Visit) => Promise<Response> {
  return async function showPage({ request }) {
    const credential = await withStore(() => credentials.find(request))
    const html = credential.kind === 'live' ? signedIn(credential.session) : signedOut(displayName)
    return new Response(html, { headers: { ...harmless, 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy } })
  }
}

function signedOut(displayName: string): string {
  return documentOf('Sign in', `<h1>Sign in</h1>
<a href="/auth/provider">Sign in with ${escapeHtml(displayName)}</a>`)
}

function signedIn({ displayName, userName, email, profileUrl }: Session): string {
  const avatar = profileUrl.startsWith('https:') ? `<img src="${escapeHtml(profileUrl)}" alt="" referrerpolicy="no-referrer">\n` : ''
  return documentOf('Signed in', `${avatar}<h1>${escapeHtml(displayName)}</h1>
<p>${escapeHtml(userName)}${email === '' ? '' : `<small>${escapeHtml(email)}</small>`}</p>
<form method="post" action="/auth/logout"><button>Sign out</button></form>`)
}

function documentOf(title: string, main: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<script>${script}</script>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${style}</style>
<main>
${main}
</main>
</html>
`
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
