// The process of the API with its whole request pipeline.
import { randomBytes } from 'node:crypto'
import { buildApi, handlers, type Platform } from '@parley/control-plane'
import { loadMasterKey, MasterKeySealer, openDatabase, postgresBus } from '@parley/store'
import { pino } from 'pino'
import type { ServerOptions, ServerReady } from './messages.ts'

const { ownerUrl, home, plantedMs } = JSON.parse(process.argv[2]!) as ServerOptions
const much = { perSecond: 1e9, burst: 1e9 }
const spoken = (role: 'stt' | 'tts') => ({
  role,
  provider: 'simulated',
  model: 'tones-1',
  voice_id: role === 'stt' ? null : 'slt',
  name: 'tones-1',
  languages: ['en', 'es'],
  gender: null,
  ready: true,
  reason: null,
})
const platform: Platform = {
  catalogue: () => ({
    models: [
      {
        model: { model_id: 'rules-1', provider: 'parley', tier: 'platform-served' },
        name: 'rules-1',
        kind: 'chat',
        provider: 'simulated_hosted',
        ready: true,
        reason: null,
        context_tokens: null,
        dimension: null,
        tools: true,
      },
    ],
    voices: [spoken('stt'), spoken('tts')],
  }),
  sealer: new MasterKeySealer(await loadMasterKey(undefined, home)),
  sip: { domain: 'localhost', tlsPort: 5061 },
  iceServers: () => [],
  allowsSipHost: () => true,
  allowsPlainHttp: () => false,
  wake: () => {},
  due: () => {},
  previewVoice: async () => ({ state: 'failed', message: 'there is no voice' }),
  knowledge: { search: async () => ({ state: 'failed', failure: 'not_configured', message: 'there is no model' }) },
  blobs: { get: async () => null },
  checkProviderKey: async () => ({ outcome: 'accepted', models: [] }),
  links: { areMailed: false, deliver: () => {} },
  baseUrl: () => 'http://localhost',
  randomBytes,
  now: Date.now,
}
const api = await buildApi({
  handlers,
  platform,
  database: await openDatabase({ ownerUrl, maxConnections: 10 }),
  bus: postgresBus({ url: ownerUrl }),
  // As in production, but written to /dev/null.
  log: pino({ level: 'info' }, pino.destination({ dest: '/dev/null', sync: false })),
  limits: { rates: { key: much, costly: much, address: much } },
})
if (plantedMs > 0)
  api.app.addHook('onRequest', async () => {
    const until = performance.now() + plantedMs
    while (performance.now() < until);
  })
process.once('disconnect', () => process.exit(0))
process.send!({ url: await api.listen({ host: '127.0.0.1', port: 0 }) } satisfies ServerReady)
