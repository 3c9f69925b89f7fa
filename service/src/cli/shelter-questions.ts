import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import type { Command } from 'commander';
import { theService } from '../domain/actor.ts';
import type { ReadConfig } from '../platform/config.ts';
import { AppError } from '../platform/errors.ts';
import { parseJsonBody } from '../platform/http/json-body.ts';
import { type Question, QuestionSchema, ShelterQuestionsSchema } from '../store/questions/question-schemas.ts';
import { getQuestions, setQuestions } from '../store/questions/questions.ts';
import { checkBySchema } from './checked-options.ts';
import { parseId } from './option-values.ts';
import { printTable, UsageError } from './output.ts';
import { onStore } from './store-command.ts';

/** As the body of a request. */
const fileBytesMax = 1_048_576;

interface Options {
  readonly file?: string;
}

export function addQuestionsCommand(shelters: Command, config: ReadConfig): void {
  const questions = shelters
    .command('questions')
    .description('show what a shelter asks those who apply for its animals, or replace it by what a file has')
    .argument('<id>', 'the shelter', parseId)
    .option('--file <file>', 'the new questions, as --json prints them; - is standard input');
  onStore(questions, config, async (id: bigint, { file }: Options) => {
    const given = file === undefined ? undefined : await readQuestionFile(file);
    return async ({ db }) => {
      const access = { key: theService, expect: () => {} };
      const asked = given ? await setQuestions(db, id, given, access) : await getQuestions(db, id);
      return { json: { questions: asked }, text: () => printTable(asked.map(rowOf), `Shelter ${id} asks nothing.`, { leastImportant }) };
    };
  });
}

async function readQuestionFile(file: string): Promise<readonly Question[]> {
  const bytes = await readBytes(file);
  if (bytes.length > fileBytesMax) throw new UsageError(`${file} has ${bytes.length} bytes; ${fileBytesMax} are allowed.`);
  if (bytes.length === 0) throw new UsageError(`${file} is empty. To remove all questions, it must have {"questions":[]}.`);
  try {
    const body = parseJsonBody(bytes) as { questions: readonly Question[] };
    checkBySchema(ShelterQuestionsSchema, body, [QuestionSchema]);
    return body.questions;
  } catch (error) {
    if (!(error instanceof AppError || error instanceof UsageError)) throw error;
    throw new UsageError(error.message.replace(/^The (request )?body/, file));
  }
}

async function readBytes(file: string): Promise<Buffer> {
  try {
    return file === '-' ? await buffer(process.stdin) : readFileSync(file);
  } catch (error) {
    throw new UsageError(`${file} can't be read: ${error instanceof Error ? error.message : error}.`);
  }
}

const leastImportant = ['options', 'only if', 'required'];

const rowOf = ({ id, text, type, options = [], required, onlyIf }: Question) => ({
  id,
  type,
  text,
  options: options.join(', ') || null,
  required: required ? 'yes' : 'no',
  'only if': onlyIf ? `${onlyIf.question} is ${onlyIf.is}` : null,
});
