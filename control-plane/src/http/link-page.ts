import { createHash } from 'node:crypto'

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
  body { margin: 0; min-height: 100vh; display: grid; place-items: center }
  main { width: min(24rem, calc(100vw - 3rem)) }
  h1 { font-size: 1.1rem; margin: 0 0 1rem }
  button { font: inherit; padding: .5rem 1rem }
`

// Programs that scan e-mails open links; the token is used up by a press of the button only.
const SCRIPT = `
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  history.replaceState(null, '', location.pathname)
  const button = document.querySelector('button')
  const note = document.querySelector('p')
  if (token === null) { button.hidden = true; note.textContent = 'This address has no token: open the link of the e-mail again.' }
  button.addEventListener('click', async () => {
    button.disabled = true
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch('/auth/session', { method: 'POST', headers, body: JSON.stringify({ token }) }).catch(() => null)
    if (answer !== null && answer.ok) return location.replace('/console/')
    const known = answer === null ? null : (await answer.json().catch(() => null))
    note.textContent = known?.error?.message ?? 'The server does not answer: try again.'
    button.disabled = answer !== null && answer.status === 401
  })
`

/** The page that an invitation or a login link opens. */
export const LINK_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>Sign in to Parley</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Sign in to Parley</h1>
<button>Sign in</button>
<p role="status"></p>
</main>
<script>${SCRIPT}</script>
</body>
</html>
`

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

export const LINK_PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `script-src ${hashOf(SCRIPT)}`,
    `style-src ${hashOf(STYLE)}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}
