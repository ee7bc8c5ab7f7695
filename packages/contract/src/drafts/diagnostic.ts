import { text } from '@parley/nodes'
import { z } from 'zod'
import { draftEdits } from './draft-edit.ts'

/** A fix for a diagnostic: edits that apply to the validated revision. */
export const diagnosticFix = z
  .strictObject({ id: text(1, 64), label: text(1, 256), edits: draftEdits })
  .meta({ id: 'DiagnosticFix' })

/** One finding; `path` is a JSON pointer into the draft, or into the body of an import. */
export const diagnostic = z
  .strictObject({
    code: text(1, 128),
    path: text(0, 1024),
    message: text(0, 4096),
    severity: z.enum(['warning', 'error']),
    fixes: z.array(diagnosticFix).max(8).optional(),
  })
  .meta({ id: 'Diagnostic' })

export type Diagnostic = z.output<typeof diagnostic>
