import { describe, expect, it } from 'vitest'
import type { DraftContent } from '../plan/draft.ts'
import { draftEnvironment } from '../testing/draft-environment.ts'
import { type DraftAction, ends, providers } from '../testing/flow-harness.ts'
import { agent, expectFinding, flow, http, lone } from './testing/findings.ts'
import { validate } from './validate.ts'

const key = (id: string, version = '1') => ({ id, version, provider: 'openai' })
const signed = (secret: { id: string; version: string }): DraftAction => ({
  ...http,
  auth: { scheme: 'bearer', secret },
})
const PLATFORM_KEY = "Use the platform's key"

const SECRETS: readonly [what: string, draft: DraftContent, path: string, fixes: string[]][] = [
  [
    'the key of a voice',
    agent({ providers: { ...providers, tts: { ...providers.tts, credential: { id: 'key', version: '7' } } } }),
    '/providers/tts/credential',
    ['Pin version 2', PLATFORM_KEY],
  ],
  [
    'the key of a recogniser, which is of another kind',
    agent({ providers: { ...providers, stt: { ...providers.stt, credential: { id: 'http', version: '2' } } } }),
    '/providers/stt/credential',
    [PLATFORM_KEY],
  ],
  [
    'the key of the model',
    agent({ providers: { ...providers, llm: { ...providers.llm, credential: key('gone') } } }),
    '/providers/llm/credential',
    [PLATFORM_KEY],
  ],
  [
    'the key of a node',
    flow([{ ...lone('hi'), model_choice: { model: providers.llm.model, credential: key('key', '7') } }, ends()]),
    '/flow/nodes/0/model_choice/credential',
    ['Pin version 2', PLATFORM_KEY],
  ],
  [
    'the key of the analysis',
    agent({ analysis: { items: [], model: { model: providers.llm.model, credential: key('key', '7') } } }),
    '/analysis/model/credential',
    ['Pin version 2', PLATFORM_KEY],
  ],
  [
    'what the webhook is signed with',
    agent({ notification: { url: 'https://example.test/', secret: { id: 'sign', version: '2' } } }),
    '/notification/secret',
    ['Pin version 1', 'Remove the webhook'],
  ],
  [
    'what an action signs in with: the newest version by number, and no other secret',
    agent({ actions: [signed({ id: 'http', version: '3' })] }),
    '/actions/0/auth/secret',
    ['Pin version 10'],
  ],
  [
    'what an action signs in with, unknown: nothing that one edit mends',
    agent({ actions: [signed({ id: 'gone', version: '1' })] }),
    '/actions/0/auth/secret',
    [],
  ],
]

describe('secrets of an agent', () => {
  it.each(SECRETS)('a missing secret blocks publishing with secret_not_found: %s', (_, draft, path, fixes) =>
    expectFinding(['secret_not_found', 'error', draft, path, fixes]),
  )

  it('a secret of the right kind and version causes no secret_not_found', () => {
    const draft = agent({
      actions: [signed({ id: 'http', version: '9' })],
      notification: { url: 'https://example.test/', secret: { id: 'sign', version: '1' } },
      providers: { ...providers, llm: { ...providers.llm, credential: key('key', '2') } },
    })
    expect(validate(draft, draftEnvironment).filter(({ code }) => code === 'secret_not_found')).toEqual([])
  })
})
