// The process of a fake service: `node fake-process.ts NAME`; ends with its parent.
import type { FakeReady } from './subject.ts'
import { subjectByName } from './subjects.ts'

const fake = await subjectByName(process.argv[2] ?? '').openFake()
process.on('disconnect', () => process.exit(0))
process.send?.({ url: fake.url } satisfies FakeReady)
