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

/** Content-Security-Policy: the page's own style and audio from the same origin, nothing else. */
export const PLAYER_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  "media-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The recording that the page shows. */
interface PlayerPageContent {
  readonly runId: string
  /** When the run was created, ISO 8601. */
  readonly at: string
  readonly state: string
  /** URL of the audio, relative to the page; null: there is no audio yet, or it was deleted. */
  readonly audio: string | null
}

const STATE_TEXTS: Readonly<Record<string, string>> = {
  pending: 'The call has not been connected yet.',
  recording: 'The call is in progress. The recording is available after it has ended.',
  processing: 'The recording is being prepared and will be available in a moment.',
  partial: 'Parts of this recording are missing.',
  failed: 'The recording failed: there is no audio.',
  not_required: 'This call was not recorded.',
  expired: 'The recording was deleted at the end of its retention period.',
}

/** The HTML page that plays a recording, or says why there is none. It reloads every 5 s until the recording is available. */
export function playerPage({ runId, at, state, audio }: PlayerPageContent): string {
  const isExpected = audio === null && ['pending', 'recording', 'processing'].includes(state)
  const stateText = STATE_TEXTS[state]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
${isExpected ? '<meta http-equiv="refresh" content="5">\n' : ''}<title>Recording</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Recording of ${escaped(new Date(at).toUTCString())}</h1>
${audio === null ? '' : `<audio controls preload="metadata" src="${escaped(audio)}"></audio>\n`}${
  stateText === undefined ? '' : `<p>${stateText}</p>\n`
}<p>Left channel: the other party. Right channel: the agent.</p>
<p>Run ${escaped(runId)}</p>
</main>
</body>
</html>
`
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.codePointAt(0)};`)
}
