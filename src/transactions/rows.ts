/** The rows of what a library answers with: a list of them, or a result that has one. */
export function rowsIn(answer: unknown): unknown[] {
  if (Array.isArray(answer)) return answer
  if (typeof answer === 'object' && answer !== null && 'rows' in answer && Array.isArray(answer.rows))
    return answer.rows
  throw new TypeError('pawl: the transaction answered without rows; is it one of a Postgres database?')
}
