import { describe, expect, it } from 'vitest'
import { readDraft } from '../plan/draft.ts'
import { draftEnvironment } from '../testing/draft-environment.ts'
import { draftOf, ends, says, when } from '../testing/flow-harness.ts'
import { planOf } from './publish.ts'
import { unreadyIn } from './readiness.ts'

function published() {
  const draft = draftOf(
    [says('hi', 'Hello.', { edges: [when('bye', 'end')] }), ends()],
    {},
    {
      notification: { url: 'https://example.com/hook', secret: { id: 'sign', version: '1' } },
    },
  )
  const result = planOf(readDraft(draft), draftEnvironment)
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics))
  return result.plan
}

const found = (over: Partial<typeof draftEnvironment>, speech = true) =>
  unreadyIn(published(), { ...draftEnvironment, ...over }, { speech }).map(({ code, path }) => [code, path])

describe('what a plan names', () => {
  it('is there when it was just published', () => {
    expect(found({})).toEqual([])
  })

  it('is missed once it is gone: secrets, then models, then voices', () => {
    expect(found({ secrets: [], models: [], voices: [] })).toEqual([
      ['secret_not_found', '/notification/secret'],
      ['model_not_ready', '/providers/llm/model'],
      ['voice_not_found', '/providers/stt'],
      ['voice_not_found', '/providers/tts'],
    ])
    const asleep = draftEnvironment.models.map(model => ({ ...model, ready: false }))
    expect(found({ models: asleep })).toEqual([['model_not_ready', '/providers/llm/model']])
  })

  it('needs no voice where nobody speaks', () => {
    expect(found({ voices: [] }, false)).toEqual([])
  })
})
