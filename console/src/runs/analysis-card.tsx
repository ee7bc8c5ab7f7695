import { useTexts } from '../i18n/i18n.tsx'
import { Badge, Facts, Section } from '../ui/parts.tsx'
import type { Run } from './run-words.tsx'

/** The findings of the post-call analysis, and the variables and metadata of the run. */
export function AnalysisCard({ run }: { readonly run: Run }) {
  const { text, word } = useTexts()
  const { analysis, dynamic_variables: variables, metadata } = run
  const shown = (value: string | number | boolean | null) =>
    value === null ? '–' : typeof value === 'boolean' ? text(value ? 'filter.yes' : 'filter.no') : String(value)
  return (
    <>
      {analysis !== null && (
        <Section
          title={text('analysis.title')}
          actions={
            analysis.successful !== null && (
              <Badge tone={analysis.successful ? 'good' : 'bad'}>
                {text(analysis.successful ? 'analysis.successful' : 'analysis.notSuccessful')}
              </Badge>
            )
          }
        >
          {analysis.summary !== null && <p className="summary">{analysis.summary}</p>}
          <Facts
            rows={[
              [text('analysis.sentiment'), analysis.sentiment === null ? null : word('sentiment', analysis.sentiment)],
              ...Object.entries(analysis.custom).map(([name, value]) => [name, shown(value)] as const),
            ]}
          />
        </Section>
      )}
      {Object.keys(variables).length > 0 && (
        <Section title={text('run.variables')}>
          <Facts rows={Object.entries(variables)} />
        </Section>
      )}
      {metadata !== null && (
        <Section title={text('run.metadata')}>
          <pre className="json">{JSON.stringify(metadata, null, 2)}</pre>
        </Section>
      )}
    </>
  )
}
