import { createHash } from 'node:crypto'

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
  body { margin: 0; min-height: 100vh; display: grid; place-items: center }
  main { width: min(36rem, calc(100vw - 3rem)) }
  h1 { font-size: 1.1rem; margin: 0 0 1rem }
  audio { width: 100% }
  p { opacity: .75; font-size: .9rem }
`
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

/** Nothing but this page's own style and the audio beside it. */
export const PLAYER_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  "media-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** What the page shows of a recording. */
interface PlayerPageContent {
  readonly runId: string
  /** When the run was made, ISO 8601. */
  readonly at: string
  readonly state: string
  /** Where the audio is, relative to the page; null: there is none yet, or no more. */
  readonly audio: string | null
}

const STATE_TEXTS: Readonly<Record<string, string>> = {
  pending: 'The call has not been connected yet.',
  recording: 'The call is going on: the recording can be heard when it has ended.',
  processing: 'The recording is being put together: it can be heard in a moment.',
  partial: 'Parts of this recording are missing.',
  failed: 'The recording failed: there is nothing to hear.',
  not_required: 'This call was not recorded.',
  expired: 'The recording has been deleted, as its time was over.',
}

/** A page of its own that plays a recording, or says why it cannot; it looks again while there will be something. */
export function playerPage({ runId, at, state, audio }: PlayerPageContent): string {
  const isComing = audio === null && ['pending', 'recording', 'processing'].includes(state)
  const stateText = STATE_TEXTS[state]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
${isComing ? '<meta http-equiv="refresh" content="5">\n' : ''}<title>Recording</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Recording of ${escaped(new Date(at).toUTCString())}</h1>
${audio === null ? '' : `<audio controls preload="metadata" src="${escaped(audio)}"></audio>\n`}${
  stateText === undefined ? '' : `<p>${stateText}</p>\n`
}<p>Left: the other side. Right: the agent.</p>
<p>Run ${escaped(runId)}</p>
</main>
</body>
</html>
`
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.codePointAt(0)};`)
}
