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
    'the credential of a voice',
    agent({ providers: { ...providers, tts: { ...providers.tts, credential: { id: 'key', version: '7' } } } }),
    '/providers/tts/credential',
    ['Pin version 2', PLATFORM_KEY],
  ],
  [
    'the credential of a recogniser, a secret of another kind',
    agent({ providers: { ...providers, stt: { ...providers.stt, credential: { id: 'http', version: '2' } } } }),
    '/providers/stt/credential',
    [PLATFORM_KEY],
  ],
  [
    'the credential of the model',
    agent({ providers: { ...providers, llm: { ...providers.llm, credential: key('gone') } } }),
    '/providers/llm/credential',
    [PLATFORM_KEY],
  ],
  [
    'the credential of the model of a node',
    flow([{ ...lone('hi'), model_choice: { model: providers.llm.model, credential: key('key', '7') } }, ends()]),
    '/flow/nodes/0/model_choice/credential',
    ['Pin version 2', PLATFORM_KEY],
  ],
  [
    'the credential of the model of the analysis',
    agent({ analysis: { items: [], model: { model: providers.llm.model, credential: key('key', '7') } } }),
    '/analysis/model/credential',
    ['Pin version 2', PLATFORM_KEY],
  ],
  [
    'the signing secret of the webhook',
    agent({ notification: { url: 'https://example.test/', secret: { id: 'sign', version: '2' } } }),
    '/notification/secret',
    ['Pin version 1', 'Remove the webhook'],
  ],
  [
    'the authentication of an action, whose only fix pins the newest version',
    agent({ actions: [signed({ id: 'http', version: '3' })] }),
    '/actions/0/auth/secret',
    ['Pin version 10'],
  ],
  [
    'the authentication of an action with an unknown secret, which has no fix',
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
