/** What duplicates leave in the record of the job that they met. */
import type { BodyRef, JobFlow, Time } from './job.ts'

/** What duplicates have brought, where its policy lets them. */
export interface Newer {
  /** In place of the input it was enqueued with: nobody had begun with that. */
  readonly input: BodyRef | undefined
  /** By which revision of the job that came, and whose word it was: two inputs with one digest are two inputs. Absent in older records. */
  readonly rev?: number | undefined
  readonly by?: string | undefined
  /** What is enqueued with its end. */
  readonly next: Next | undefined
}

export interface Next {
  readonly input: BodyRef | undefined
  readonly runAt: Time | undefined
  /** When the first of those came that it stands for. */
  readonly since: Time
  /** The names it is let in by follow from its input: they are those of the newest. */
  readonly flow: JobFlow | undefined
  /** Who brought it. Absent in older records. */
  readonly by?: string | undefined
}
