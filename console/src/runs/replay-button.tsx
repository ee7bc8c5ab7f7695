import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { navigate } from '../router.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { SelectField } from '../ui/fields.tsx'
import { FormActions } from '../ui/form-actions.tsx'
import { isEnded, type Run } from './run-words.tsx'

const TARGETS = ['draft', 'own'] as const
const AFTER_CHANGE = ['stop', 'simulate'] as const

/** Replays a run that has ended against the draft of its agent, or against the version that it had. */
export function ReplayButton({ run }: { readonly run: Run }) {
  const { text } = useTexts()
  const [isOpen, setOpen] = useState(false)
  if (!isEnded(run)) return null
  return (
    <>
      <button type="button" className="button" onClick={() => setOpen(true)}>
        {text('replay.open')}
      </button>
      {isOpen && <ReplayDialog run={run} onClose={() => setOpen(false)} />}
    </>
  )
}

function ReplayDialog({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) {
  const api = useApi()
  const { text, word } = useTexts()
  const replay = useMutation({
    mutationFn: (form: FormData) =>
      api.runs.replay({
        params: { run_id: run.run_id },
        body: {
          ...(form.get('target') === 'draft' && { draft: true as const }),
          after_change: form.get('after_change') === 'simulate' ? 'simulate' : 'stop',
        },
      }),
    onSuccess: ({ test_run_id }) => navigate({ page: 'test-run', testRunId: test_run_id }),
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    replay.mutate(new FormData(event.currentTarget))
  }
  return (
    <Dialog title={text('replay.title')} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <p>{text('replay.hint')}</p>
        <SelectField
          label={text('replay.against')}
          name="target"
          choices={TARGETS.map(one => [one, word('replayTarget', one)])}
        />
        <SelectField
          label={text('replay.afterChange')}
          name="after_change"
          choices={AFTER_CHANGE.map(one => [one, word('afterChange', one)])}
        />
        <FormActions label={text('replay.do')} isPending={replay.isPending} error={replay.error} />
      </form>
    </Dialog>
  )
}
