import { aboutStudy } from "../form/about.js";
import { checkStep } from "../form/steps/check.js";
import { confirmStep, endedStep } from "../form/steps/withdraw.js";
import { consentStep } from "../form/steps/consent.js";
import { howItWorks, limitsList } from "../form/how_it_works.js";
import { saveCopy } from "../form/saved_copy.js";
import { savePagePart } from "../form/saved_page.js";

/** What few people open. */
export const EXTRAS = {
  provided: {
    aboutStudy,
    checkStep,
    confirmStep,
    consentStep,
    endedStep,
    howItWorks,
    limitsList,
    saveCopy,
    savePagePart,
  },
};
