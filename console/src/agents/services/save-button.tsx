import { useTexts } from '../../i18n/i18n.tsx'
import type { OpenDraft } from '../use-draft.ts'

/** Stores the form that it is in as an edit of the draft. */
export function SaveButton({ open }: { readonly open: OpenDraft }) {
  const { text } = useTexts()
  return (
    <div className="form-actions">
      <button type="submit" className="button primary" disabled={open.isSaving}>
        {text('action.save')}
      </button>
    </div>
  )
}
