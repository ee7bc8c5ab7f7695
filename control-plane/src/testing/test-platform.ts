import { randomBytes } from 'node:crypto'
import type { Catalogue, CatalogueModel, CatalogueVoice } from '../catalogue.ts'
import type { PersonLink, Platform, WaitingRun } from '../context.ts'

const speechService = (
  role: 'stt' | 'tts',
  provider: string,
  voice_id: string | null,
  ready: boolean,
): CatalogueVoice => ({
  role,
  provider,
  model: `${provider}-1`,
  voice_id,
  name: voice_id ?? provider,
  languages: ['en', 'es'],
  gender: null,
  ready,
  reason: ready ? null : 'no_key',
})

const chatModel = (provider: string, ready: boolean): CatalogueModel => ({
  model: { model_id: `${provider}-1`, provider, tier: 'frontier' },
  name: provider,
  kind: 'chat',
  provider: 'hosted',
  ready,
  reason: ready ? null : 'no_key',
  context_tokens: null,
  dimension: null,
  tools: true,
})

const EMBEDDING_MODEL: CatalogueModel = {
  ...chatModel('near', true),
  model: { model_id: 'near-embedding-1', provider: 'near', tier: 'frontier' },
  kind: 'embedding',
  dimension: 4,
  tools: false,
}

/** Of each kind one service without a key, then one that is ready. */
export const TEST_CATALOGUE: Catalogue = {
  models: [chatModel('distant', false), chatModel('near', true), EMBEDDING_MODEL],
  voices: [
    speechService('stt', 'distant', null, false),
    speechService('stt', 'near', null, true),
    speechService('tts', 'distant', 'ann', false),
    speechService('tts', 'near', 'bea', true),
  ],
}

/** A search that finds nothing. */
const emptyKnowledge: Platform['knowledge'] = {
  search: async () => ({ state: 'found', body: { generation_id: '0199a2f0-0000-7000-8000-000000000000', items: [] } }),
}

/** A platform that records the runs to wake and the links to deliver. */
export interface TestPlatform extends Platform {
  readonly wokenRuns: readonly WaitingRun[]
  readonly deliveredLinks: readonly PersonLink[]
}

/** A platform that allows plain http to 127.0.0.1:9999 and no trunk to 127.0.0.1, encrypts nothing, has no recordings and uses the real clock. */
export function testPlatform(catalogue: Catalogue = TEST_CATALOGUE): TestPlatform {
  const woken: WaitingRun[] = []
  const links: PersonLink[] = []
  return {
    wokenRuns: woken,
    wake: work => void woken.push(work),
    due: () => {},
    knowledge: emptyKnowledge,
    blobs: { get: async () => null },
    checkProviderKey: async () => ({ outcome: 'accepted', models: [] }),
    previewVoice: async () => ({ state: 'rendered', mp3: Buffer.from('of a test') }),
    links: { areMailed: false, deliver: link => void links.push(link) },
    deliveredLinks: links,
    iceServers: name => [{ urls: ['turn:turn.example'], username: `2000000000:${name}`, credential: 'of a test' }],
    baseUrl: () => 'http://parley.example',
    catalogue: () => catalogue,
    sealer: { seal: plain => plain, open: sealed => sealed },
    sip: { domain: 'localhost', tlsPort: 5061 },
    allowsSipHost: host => host !== '127.0.0.1',
    allowsPlainHttp: url => url.host === '127.0.0.1:9999',
    randomBytes,
    now: Date.now,
  }
}
