import { useTexts } from '../i18n/i18n.tsx'
import { DifferenceList } from './difference-list.tsx'
import type { OpenDraft } from './use-draft.ts'

/** What somebody else changed in the draft meanwhile; a refused change of ours can be applied on top of it. */
export function ForeignChanges({ open }: { readonly open: OpenDraft }) {
  const { text } = useTexts()
  const { foreign } = open
  if (foreign === null) return null
  const { refused } = foreign
  return (
    <section className="card foreign" role="status" aria-label={text('foreign.title')}>
      <h2>{text(refused === null ? 'foreign.title' : 'foreign.refused')}</h2>
      <DifferenceList differences={foreign.differences} />
      <div className="form-actions">
        {refused !== null && (
          <button
            type="button"
            className="button primary"
            onClick={() => {
              open.dismissForeign()
              open.edit(refused)
            }}
          >
            {text('foreign.apply')}
          </button>
        )}
        <button type="button" className="button" onClick={open.dismissForeign}>
          {text(refused === null ? 'action.close' : 'foreign.discard')}
        </button>
      </div>
    </section>
  )
}
