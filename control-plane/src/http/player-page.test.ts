import { expect, it } from 'vitest'
import { playerPage } from './player-page.ts'

const RUN = '01a20421-b6d5-70ce-873b-51dd2b86ed7b'

it('the player page names the time of the call in words, and which party is on which audio channel', () => {
  const page = playerPage({ runId: RUN, at: '2026-11-22T16:40:48.081Z', state: 'ready', audio: 'token/audio' })
  expect(page).toContain('<h1>Recording of Sun, 22 Nov 2026 16:40:48 GMT</h1>')
  expect(page).toContain('<p>Left channel: the other party. Right channel: the agent.</p>')
  expect(page).toContain(`<p>Run ${RUN}</p>`)
  expect(page).toContain('src="token/audio"')
})
