import { aboutStudy } from "../form/about.js";
import { confirmStep, endedStep } from "../form/steps/withdraw.js";
import { consentStep } from "../form/steps/consent.js";
import { limitsForm, limitsList } from "../form/allowance_form.js";
import { practiceStep } from "../form/steps/practice.js";
import { saveCopy } from "../form/saved_copy.js";
import { savePagePart } from "../form/saved_page.js";

/** What few people open. */
export const EXTRAS = {
  provided: {
    aboutStudy,
    confirmStep,
    consentStep,
    endedStep,
    limitsForm,
    limitsList,
    practiceStep,
    saveCopy,
    savePagePart,
  },
};
