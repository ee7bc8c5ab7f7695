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

describe('the readiness of a published plan', () => {
  it('a plan that was just published is ready', () => {
    expect(found({})).toEqual([])
  })

  it('a missing secret, model or voice makes a plan unready, reported in this order', () => {
    expect(found({ secrets: [], models: [], voices: [] })).toEqual([
      ['secret_not_found', '/notification/secret'],
      ['model_not_ready', '/providers/llm/model'],
      ['voice_not_found', '/providers/stt'],
      ['voice_not_found', '/providers/tts'],
    ])
    const asleep = draftEnvironment.models.map(model => ({ ...model, ready: false }))
    expect(found({ models: asleep })).toEqual([['model_not_ready', '/providers/llm/model']])
  })

  it('a plan without a voice channel is ready without a voice', () => {
    expect(found({ voices: [] }, false)).toEqual([])
  })
})
