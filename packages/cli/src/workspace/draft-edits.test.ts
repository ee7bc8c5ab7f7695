import { draftEdits } from '@parley/contract/testing'
import { exampleDrafts } from '@parley/examples/testing'
import { applyEdits, fromTemplate, readDraft } from '@parley/flow'
import { describe, expect, it } from 'vitest'
import { editsFor } from './draft-edits.ts'

const providers = readDraft(exampleDrafts()[0]!.draft).providers
const blank = fromTemplate('blank', { name: 'Blank', language: 'en', providers })

describe.each(exampleDrafts().map(({ name, draft }) => [name, readDraft(draft)] as const))(
  'the example %s',
  (_, draft) => {
    it('the example is built from a blank agent by edits that the API accepts', () => {
      let built = blank
      for (const edits of editsFor(draft)) {
        const applied = applyEdits(built, draftEdits.parse(edits))
        if (!applied.ok) throw new Error(JSON.stringify(applied.issues))
        built = applied.draft
      }
      expect({ ...built, settings: { ...built.settings, ...draft.settings } }).toEqual({
        ...draft,
        settings: built.settings,
      })
    })
  },
)
